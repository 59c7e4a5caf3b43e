#ifndef SPRING_SCENE_H
#define SPRING_SCENE_H

#include <spring_physics.h>

/* What is written before each line. Valid for as long as the process lives. */
const char *spring_scene_label(void);

/* Moves the spring on by the duration of one frame, in seconds. */
void spring_scene_advance(struct spring *spring, double frame_duration);

#endif
